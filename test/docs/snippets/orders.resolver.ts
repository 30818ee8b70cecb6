import { Field, ID, ObjectType } from '@nestjs/graphql';

@ObjectType()
export class Customer {
  @Field(() => ID)
  id!: string;

  @Field(() => [Order])
  orders!: Order[];
}

@ObjectType()
export class Order {
  @Field(() => ID)
  id!: string;
}

// #region orders-resolver
import { Args, Parent, Query, ResolveField, Resolver } from '@nestjs/graphql';
import { SpanGroup } from 'nest-lens';

@Resolver(() => Customer)
@SpanGroup('customers') // queries, mutations, subscriptions and fields
export class CustomersResolver {
  @Query(() => [Customer])
  customers(@Args('ids', { type: () => [String] }) ids: string[]) {
    return ids.map((id) => ({ id }));
  }

  @ResolveField(() => [Order])
  @SpanGroup('customer_fields') // a group of its own: it is called for each customer of the list
  orders(@Parent() { id }: Customer) {
    return [{ id: `${id}-1` }];
  }
}
// #endregion
