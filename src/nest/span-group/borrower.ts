const BORROWER = Symbol.for('nest-lens.borrower');

/**
 * What stands for an application among those that have borrowed a gate; all copies of the package see the same object. It knows
 * nothing of the application, because gates live as long as their classes. An application whose start fails is never closed, and
 * would stay in memory with them.
 *
 * @param modules the module container of the application
 */
export function borrowerOf(modules: object): object {
  const borrowing = modules as { [BORROWER]?: object };
  if (borrowing[BORROWER] === undefined) Object.defineProperty(modules, BORROWER, { value: {} });
  return borrowing[BORROWER]!;
}
