/* Wrong: a shared object that exports no entry symbol, so it is no plugin. */
int slipway_toy_answer(void);
int slipway_toy_answer(void) { return 42; }
