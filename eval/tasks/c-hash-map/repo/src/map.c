#include "map.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct map_slot {
  char *key; /* NULL: empty */
  int value;
};

static size_t hash(const char *key) {
  uint64_t h = 1469598103934665603u;
  for (; *key != 0; key++) h = (h ^ (unsigned char)*key) * 1099511628211u;
  return (size_t)(h ^ h >> 32);
}

static struct map_slot *find(const struct map *m, const char *key) {
  size_t at = hash(key) % m->capacity;
  while (m->slots[at].key != NULL && strcmp(m->slots[at].key, key) != 0) at = (at + 1) % m->capacity;
  return &m->slots[at];
}

void map_init(struct map *m) {
  m->capacity = 16;
  m->count = 0;
  m->slots = calloc(m->capacity, sizeof *m->slots);
}

void map_free(struct map *m) { free(m->slots); }

bool map_put(struct map *m, const char *key, int value) {
  struct map_slot *slot = find(m, key);
  slot->key = malloc(strlen(key) + 1);
  strcpy(slot->key, key);
  slot->value = value;
  m->count++;
  return true;
}

bool map_get(const struct map *m, const char *key, int *value) {
  struct map_slot *slot = find(m, key);
  *value = slot->value;
  return slot->key != NULL;
}

bool map_remove(struct map *m, const char *key) {
  struct map_slot *slot = find(m, key);
  if (slot->key == NULL) return false;
  slot->key = NULL;
  m->count--;
  return true;
}

size_t map_count(const struct map *m) { return m->count; }

void map_each(const struct map *m, bool (*visit)(const char *key, int value, void *context), void *context) {
  for (size_t i = 0; i < m->capacity; i++) visit(m->slots[i].key, m->slots[i].value, context);
}
