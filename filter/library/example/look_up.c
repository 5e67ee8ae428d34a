/* Tells of each line of its input how it is listed in a filter:
 *
 *   look_up FILTER < LINES
 *
 * A line is a sender's address, or a sender and a recipient with a TAB between, or a mailing list, `list:HOST`. To
 * compile it:
 *
 *   cc -o look_up look_up.c $(pkg-config --cflags --libs bloomgate)
 *
 * or with the CMakeLists.txt beside it. Where all are listed it ends with 0, else with 1; with 2 after an error. */
#include <bloomgate.h>
#include <stdio.h>
#include <string.h>

static const char* answer_name(uint8_t answer) {
  switch (answer) {
    case BLOOMGATE_LISTED:
      return "listed";
    case BLOOMGATE_BY_DOMAIN:
      return "listed, by its domain";
    case BLOOMGATE_BY_DOMAIN_TREE:
      return "listed, by a domain above it";
    case BLOOMGATE_BY_PAIR:
      return "listed for this recipient";
    case BLOOMGATE_BY_MAILING_LIST_TREE:
      return "listed, by a host above it";
    case BLOOMGATE_EXCLUDED:
      return "not listed: a known stranger";
    case BLOOMGATE_NULL_SENDER:
      return "not listed: no sender";
    case BLOOMGATE_MALFORMED:
      return "not listed: no address";
    default: /* of a later version */
      return bloomgate_is_listed(answer) ? "listed" : "not listed";
  }
}

static int look_up(const bloomgate_filter* filter, const char* line, size_t bytes, uint8_t* answer) {
  static const char list[] = "list:";
  const char* tab = memchr(line, '\t', bytes);
  if (strncmp(line, list, sizeof list - 1) == 0) return bloomgate_look_up_entry(filter, line, bytes, answer);
  if (tab == NULL) return bloomgate_look_up(filter, line, bytes, answer);
  const size_t sender_bytes = (size_t)(tab - line);
  return bloomgate_look_up_pair(filter, line, sender_bytes, tab + 1, bytes - sender_bytes - 1, answer);
}

int main(int argc, char** argv) {
  bloomgate_filter* filter = NULL;
  char line[4096];
  int all_listed = 1;

  if (argc != 2) {
    fprintf(stderr, "usage: look_up FILTER < LINES\n");
    return 2;
  }
  if (bloomgate_open(argv[1], strlen(argv[1]), BLOOMGATE_VERIFY, &filter) != BLOOMGATE_OK) {
    fprintf(stderr, "look_up: %s\n", bloomgate_last_error());
    return 2;
  }
  while (fgets(line, sizeof line, stdin) != NULL) {
    const size_t bytes = strcspn(line, "\n");
    uint8_t answer;
    if (look_up(filter, line, bytes, &answer) != BLOOMGATE_OK) {
      fprintf(stderr, "look_up: %s\n", bloomgate_last_error());
      bloomgate_close(filter);
      return 2;
    }
    printf("%.*s\t%s\n", (int)bytes, line, answer_name(answer));
    all_listed &= bloomgate_is_listed(answer);
  }
  bloomgate_close(filter);
  return all_listed ? 0 : 1;
}
