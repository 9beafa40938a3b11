#include "ring.h"

#include <string.h>

void ring_init(struct ring *r, void *storage, size_t size) {
  r->data = storage;
  r->size = size;
  r->start = 0;
  r->used = 0;
}

size_t ring_used(const struct ring *r) { return r->used; }

size_t ring_free(const struct ring *r) { return r->size - r->used; }

size_t ring_write(struct ring *r, const void *bytes, size_t n) {
  if (n > ring_free(r)) n = ring_free(r);
  memcpy(r->data + r->start + r->used, bytes, n);
  r->used += n;
  return n;
}

size_t ring_read(struct ring *r, void *bytes, size_t n) {
  if (n > r->used) n = r->used;
  memcpy(bytes, r->data + r->start, n);
  r->start += n;
  r->used -= n;
  return n;
}

size_t ring_peek(const struct ring *r, size_t offset, void *bytes, size_t n) {
  if (n > r->used - offset) n = r->used - offset;
  memcpy(bytes, r->data + r->start + offset, n);
  return n;
}

size_t ring_discard(struct ring *r, size_t n) {
  r->start += n;
  r->used -= n;
  return n;
}

long ring_find(const struct ring *r, unsigned char byte, size_t offset) {
  const unsigned char *found = memchr(r->data + r->start + offset, byte, r->used);
  return found == NULL ? -1 : found - r->data;
}
