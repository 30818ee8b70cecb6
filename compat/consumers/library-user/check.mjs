import { check } from './check-library.cjs';

await check((name) => import(name));
