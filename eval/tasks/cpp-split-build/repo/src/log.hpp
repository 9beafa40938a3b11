#pragma once
#include <string>

int log_level = 1;
static int log_count = 0;

/** Keeps a message if its level is at most log_level. */
void log_line(int level, const std::string& text);

/** The last message that was kept. */
const std::string& last_log_line();

/** The number of messages that were kept. */
int logged_lines() { return log_count; }
