import { defineSpanGroups } from 'nest-lens';

/**
 * What the database layer can emit. `db_query` is in no preset: one span a statement is too much for anything
 * but a close look, so it has to be asked for by its name (`per_request,db_query`).
 */
export const databaseSpans = defineSpanGroups({
  namespace: 'db',
  groups: ['db_query', 'db_transaction'],
  presets: { per_request: ['db_transaction'] },
});
