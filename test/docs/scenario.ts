/** What the page says of one case, brought about and looked at. */
export interface Scenario {
  /** Numbers of the behaviour that it is about. */
  readonly behaviour: string;
  /** The cells beside the first that it has made sure of, word by word. */
  readonly cells: readonly string[];
  run(): Promise<void>;
}

type Check<Seen> = (seen: Seen) => unknown;

async function check<Seen>(clause: string, look: Check<Seen>, seen: Seen): Promise<void> {
  try {
    await look(seen);
  } catch (error) {
    throw new Error(`“${clause}” is not what happens: ${String(error)}`, { cause: error });
  }
}

/**
 * A case that is lived through once; then each clause of what the page says is looked for in what was seen.
 *
 * @param clauses the cell in parts, each with its check
 */
export function scenario<Seen>(
  behaviour: string,
  live: () => Promise<Seen>,
  clauses: Readonly<Record<string, Check<Seen>>>,
): Scenario {
  return {
    behaviour,
    cells: [Object.keys(clauses).join(' ')],
    async run() {
      const seen = await live();
      for (const [clause, look] of Object.entries(clauses)) await check(clause, look, seen);
    },
  };
}

/**
 * A variable of the SDK: that it is in force, and that these options, and no others, win over it.
 *
 * @param winners the options as the page has them, each with its check
 */
export function variableScenario(
  behaviour: string,
  isInForce: () => Promise<unknown>,
  winners: Readonly<Record<string, () => Promise<unknown>>>,
): Scenario {
  return {
    behaviour,
    cells: ['yes', Object.keys(winners).join(', ')],
    async run() {
      await check('yes', isInForce, undefined);
      for (const [option, wins] of Object.entries(winners)) await check(option, wins, undefined);
    },
  };
}
