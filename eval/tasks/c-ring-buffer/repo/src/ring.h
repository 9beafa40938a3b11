#ifndef RING_H
#define RING_H
#include <stddef.h>

/* A queue of bytes in storage of the caller. All of the storage can be used. */
struct ring {
  unsigned char *data;
  size_t size;
  size_t start; /* the index of the oldest byte */
  size_t used;  /* the number of bytes in the queue */
};

void ring_init(struct ring *r, void *storage, size_t size);
size_t ring_used(const struct ring *r);
size_t ring_free(const struct ring *r);
size_t ring_write(struct ring *r, const void *bytes, size_t n);
size_t ring_read(struct ring *r, void *bytes, size_t n);
size_t ring_peek(const struct ring *r, size_t offset, void *bytes, size_t n);
size_t ring_discard(struct ring *r, size_t n);
long ring_find(const struct ring *r, unsigned char byte, size_t offset);
int ring_read_line(struct ring *r, char *line, size_t size);

#endif
