#ifndef MAP_H
#define MAP_H
#include <stdbool.h>
#include <stddef.h>

/* A map from strings to ints with open addressing and linear probing. It keeps copies of its keys. */
struct map {
  struct map_slot *slots;
  size_t capacity;
  size_t count;
};

void map_init(struct map *m);
void map_free(struct map *m);
/* Returns false if there is no memory; the map is unchanged then. */
bool map_put(struct map *m, const char *key, int value);
/* Stores the value and returns true if the key is there. value may be NULL. */
bool map_get(const struct map *m, const char *key, int *value);
bool map_remove(struct map *m, const char *key);
size_t map_count(const struct map *m);
/* Calls visit for each entry until it returns false. */
void map_each(const struct map *m, bool (*visit)(const char *key, int value, void *context), void *context);

#endif
