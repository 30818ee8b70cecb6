import { isSpanGroupEnabled } from 'nest-lens';

console.log(isSpanGroupEnabled('orders'));
