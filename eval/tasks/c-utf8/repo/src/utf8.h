#ifndef UTF8_H
#define UTF8_H
#include <stddef.h>
#include <stdint.h>

int utf8_next(const unsigned char **text, const unsigned char *end, uint32_t *point);
size_t utf8_repair(const unsigned char *text, size_t n, unsigned char *out, size_t size);
size_t utf8_columns(const unsigned char *text, size_t n);

#endif
