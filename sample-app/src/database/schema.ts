export const SCHEMA = `
  create table if not exists products (
    id integer primary key,
    name text not null,
    price_cents integer not null,
    stock integer not null check (stock >= 0)
  );

  create table if not exists payments (
    id integer generated always as identity primary key,
    amount_cents integer not null,
    authorisation text not null
  );

  create table if not exists orders (
    id integer generated always as identity primary key,
    payment_id integer not null references payments,
    status text not null default 'paid' check (status in ('paid', 'packed', 'shipped'))
  );

  create table if not exists order_lines (
    order_id integer not null references orders,
    product_id integer not null references products,
    quantity integer not null check (quantity > 0),
    price_cents integer not null,
    primary key (order_id, product_id)
  );
`;
