import type { DynamicModule } from '@nestjs/common';
import { ApolloDriver, type ApolloDriverConfig } from '@nestjs/apollo';
import { Field, GraphQLModule, Int, ObjectType } from '@nestjs/graphql';
import type { LensApp } from '../support/lens-app.js';

/** Code first: a type is known by its class, to all schemas of the process, so there is one for all tests. */
@ObjectType()
export class Order {
  @Field(() => Int)
  id!: number;
}

export function graphqlModule(options: Partial<ApolloDriverConfig> = {}): DynamicModule {
  return GraphQLModule.forRoot<ApolloDriverConfig>({
    driver: ApolloDriver,
    autoSchemaFile: true,
    includeStacktraceInErrorResponses: false,
    playground: false,
    ...options,
  });
}

export interface GraphqlAnswer {
  readonly data?: any;
  readonly errors?: unknown[];
}

/** The answer to a query or mutation, over HTTP. */
export async function ask(lens: LensApp, query: string): Promise<GraphqlAnswer> {
  return (await lens.post('/graphql', { query })).json() as GraphqlAnswer;
}
