import { describe, expect, it } from 'vitest';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { GraphQLModule } from '@nestjs/graphql';
import { ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { trace } from '@opentelemetry/api';
import { drizzle } from 'drizzle-orm/pg-proxy';
import { aroundSnippets, bootWith, codes, json } from './running-snippets.js';
import { names, spansOf } from './span-tree.js';

// The recipes whose packages are development dependencies. `compat/consumers/recipes` runs the others.

describe('docs/recipes', () => {
  aroundSnippets();

  it('I9: orms: the query is executed inside the span of the method that returned it', async () => {
    const { ProductsStore } = await import('./snippets/products-store.js');
    const inside: unknown[] = [];
    const db = drizzle(async () => {
      inside.push((trace.getActiveSpan() as unknown as { name?: string })?.name);
      await new Promise((resolve) => setImmediate(resolve));
      return { rows: [] };
    });
    const { app, captured } = await bootWith(
      'all',
      { providers: [{ provide: ProductsStore, useFactory: () => new ProductsStore(db) }] },
      ['products_db'],
    );
    const store = app.get(ProductsStore);
    expect(await store.byName('tea')).toEqual([]);
    await store.rename(1, 'green tea');

    expect(inside).toEqual(['ProductsStore.byName', 'ProductsStore.rename']);
    expect(names(await spansOf(captured))).toEqual(inside);
  });

  it('N4: graphql: a query makes one span, and each field one in its own group', async () => {
    const { CustomersResolver } = await import('./snippets/orders.resolver.js');
    const graphql = GraphQLModule.forRoot<ApolloDriverConfig>({ driver: ApolloDriver, autoSchemaFile: true });
    const query = '{ customers(ids: ["1", "2"]) { id orders { id } } }';
    const spansFor = async (spec: string): Promise<string[]> => {
      const { app, url, captured } = await bootWith(
        spec,
        { imports: [graphql], providers: [CustomersResolver] },
        ['customers', 'customer_fields'],
      );
      const answer = await json(`${url}/graphql`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query }),
      });
      expect(answer.data.customers).toHaveLength(2);
      const spans = names(await spansOf(captured));
      await app.close();
      return spans;
    };
    const field = 'CustomersResolver.orders';
    expect(await spansFor('all')).toEqual(['CustomersResolver.customers', field, field]);
    expect(await spansFor('all,-customer_fields')).toEqual(['CustomersResolver.customers']);
    expect(codes()).toEqual([]);
  });

  it('N4: cron: a run makes a root span', async () => {
    const { NightlyJobs } = await import('./snippets/nightly-jobs.js');
    const { app, captured } = await bootWith(
      'all',
      { imports: [ScheduleModule.forRoot()], providers: [NightlyJobs] },
      ['nightly'],
    );
    const [job] = app.get(SchedulerRegistry).getCronJobs().values();
    await job!.fireOnTick();
    expect(names(await spansOf(captured))).toEqual(['NightlyJobs.report']);
  });
});
