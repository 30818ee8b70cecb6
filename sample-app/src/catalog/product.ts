/** A product as the database holds it. Money is in cents, everywhere in the shop. */
export interface Product {
  id: number;
  name: string;
  price_cents: number;
  stock: number;
}
