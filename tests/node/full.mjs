/** Whether npm run test:full runs the tests. */
export const full = Boolean(process.env.VITRINE_FULL);

/** How many rounds of random cases a test has: a quarter of `all`, unless npm run test:full runs it. */
export const rounds = (all) => (full ? all : all / 4);
