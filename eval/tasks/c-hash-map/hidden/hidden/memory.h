#include <stdlib.h>
#include <string.h>
void *test_malloc(size_t size);
void *test_calloc(size_t count, size_t size);
void *test_realloc(void *block, size_t size);
char *test_strdup(const char *text);
void test_free(void *block);
