/* A bot for borneo-protocol/1 in C, without a library:
 *
 *     cc -O2 -o my_bot agents/examples/bot.c
 *     borneo arena command:./my_bot random
 *
 * It plays one of its moves at random, by the dice it is given, so that it plays the same games again.
 * It wants neither words nor numbers: the moves are all it reads. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HELLO[] =
    "{\"protocol\":\"borneo-protocol/1\",\"name\":\"example in C\",\"wants\":[],\"memoryless\":true}";

/* Where the value of an entry begins. Moves, dice and types hold no quotes and no escapes. */
static char *value(char *line, const char *entry) {
    char *found = strstr(line, entry);
    found = found ? strchr(found + strlen(entry), ':') : NULL;
    return found ? found + 1 + strspn(found + 1, " ") : NULL;
}

/* The next text in quotes; moves `at` behind it. */
static char *text(char **at) {
    char *begin = strchr(*at, '"') + 1;
    char *end = strchr(begin, '"');
    *end = '\0';
    *at = end + 1;
    return begin;
}

int main(void) {
    char *line = NULL, *moves[1000];
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char *at = value(line, "\"type\"");
        const char *type = at ? text(&at) : "";
        if (strcmp(type, "hello") == 0) {
            puts(HELLO);
        } else if (strcmp(type, "rules") == 0) {
            puts("{\"ready\":true}");
        } else if (strcmp(type, "decide") == 0) {
            char *list = value(at, "\"moves\"");
            char *dice = value(at, "\"dice\"") + 1;
            unsigned long long bits = strtoull(dice, NULL, 16);
            size_t count = 0;
            for (char *end = strchr(list, ']'); list < end && *list != ']' && count < 1000;) moves[count++] = text(&list);
            printf("{\"move\":\"%s\"}\n", moves[bits % count]);
        } else {
            break; /* quit */
        }
        fflush(stdout);
    }
    free(line);
    return 0;
}
