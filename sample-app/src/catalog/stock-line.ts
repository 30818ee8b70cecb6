/** So many of one product. */
export interface StockLine {
  productId: number;
  quantity: number;
}

/** A line taken off the stock, at the price of that moment. */
export interface ReservedLine extends StockLine {
  priceCents: number;
}
