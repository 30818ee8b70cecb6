/** Something that runs SQL: the database itself, or the transaction that is under way. */
export interface SqlConnection {
  /**
   * @param name what the statement is called in a trace, e.g. `UPDATE products`; a constant, so that the gate
   *   has nothing to compute when the group is off
   * @param text SQL, with `$1`, `$2` … for the parameters
   */
  query<Row>(name: string, text: string, parameters?: unknown[]): Promise<Row[]>;
}
