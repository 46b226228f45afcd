/* A window as a line of text, which other processes on the machine are told. */
#include "window.h"

#include <stdio.h>
#include <string.h>

static const char *const fillers[] = {"nops", "vectors", "integers"};
static const char *const certainties[] = {"none", "halved", "likely", "sure"};

static unsigned place_of(const char *word, const char *const *words, unsigned count)
{
	unsigned k = 0;
	while (k < count && strcmp(words[k], word) != 0)
		k++;
	return k;
}

void pb_window_write(const pb_found *found, char *text, unsigned room)
{
	const pb_window *w = &found->window;
	text[0] = '\0';
	if (w->length)
		snprintf(text, room, "%s %u %u %u %u %.0f %s", fillers[w->filler], w->chain, w->length,
			 w->rounds, found->ends[w->filler], 100 * found->costs,
			 certainties[found->certainty]);
}

int pb_window_parse(const char *text, pb_found *found)
{
	char filler[10], certainty[8];
	unsigned end;
	pb_window *w = &found->window;
	memset(found, 0, sizeof *found);
	if (!text || sscanf(text, "%9s %u %u %u %u %lf %7s", filler, &w->chain, &w->length, &w->rounds, &end,
			    &found->costs, certainty) != 7)
		return 0;
	w->filler = place_of(filler, fillers, PB_FILLERS);
	if (w->filler >= PB_FILLERS)
		return 0;
	found->costs /= 100;
	found->ends[w->filler] = end;
	found->certainty = place_of(certainty, certainties, PB_WINDOW_SURE + 1);
	return found->certainty <= PB_WINDOW_SURE && found->certainty != PB_WINDOW_NONE && w->chain >= 1 &&
	       w->chain <= PB_CHAIN_MOST && w->rounds >= 1 && w->rounds <= PB_ROUNDS_MOST && w->length &&
	       w->length <= PB_WINDOW_MOST && end <= PB_WINDOW_MOST;
}
