/* The end of a table that `perbyte try` writes: its row and its runner. TRIAL_ALGORITHM and TRIAL_LENGTHS: the row's
 * id, and bytes of key, nonce, multiple and output; TRIAL_NAME, TRIAL_LIBRARY and TRIAL_VERSION: texts; TRIAL_FIRST: a
 * function of the user's; TRIAL_ALIGNED: see pb_runner. */
static const pb_family trial_family = {trial_open, trial_close, trial_variants};
static const pb_row trial_rows[] = {
	{TRIAL_ALGORITHM, &trial_family, NULL, TRIAL_LENGTHS},
	PB_END_OF_ROWS,
};
static const pb_row *const trial_tables[] = {trial_rows, NULL};

static const char *trial_version(void)
{
	return TRIAL_VERSION;
}

static const pb_runner trial_runner = {
	.name = TRIAL_NAME,
	.library = TRIAL_LIBRARY,
	.license = "not stated",
	.version = trial_version,
	.object = (const void *)TRIAL_FIRST,
	.tables = trial_tables,
	.aligned = TRIAL_ALIGNED,
};

int main(int argc, char **argv)
{
	return pb_runner_main(&trial_runner, argc, argv);
}
