#include <assert.h>
#include <string.h>

#include "utf8.h"

static const unsigned char *bytes(const char *text) { return (const unsigned char *)text; }

int main(void) {
  const unsigned char *at = bytes("\xC3\xA9\xE2\x82" "A"), *end = at + 5;
  uint32_t point;
  assert(utf8_next(&at, end, &point) == 1 && point == 0xE9);
  assert(utf8_next(&at, end, &point) == -1 && point == 0xFFFD);
  assert(utf8_next(&at, end, &point) == 1 && point == 'A');
  assert(utf8_next(&at, end, &point) == 0);
  unsigned char out[8];
  assert(utf8_repair(bytes("a\xFF"), 2, out, sizeof out) == 4);
  assert(memcmp(out, "a\xEF\xBF\xBD", 4) == 0);
  assert(utf8_columns(bytes("e\xCC\x81"), 3) == 1);
  return 0;
}
