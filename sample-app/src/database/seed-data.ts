export const SEED_DATA = `
  insert into products (id, name, price_cents, stock) values
    (1, 'Teapot', 2490, 40),
    (2, 'Tea cup', 690, 200),
    (3, 'Copper kettle', 4900, 1)
  on conflict do nothing;
`;
