/**
 * The loops around the calls that are measured. Import a copy for each case (`./calls.mjs?case`): in a shared loop V8 would
 * see every case at one place, and optimise for none of them. Sixteen sites are called from one place in turn.
 */
export function callMethod(site, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + site.work(i, 2)) | 0;
  return sum;
}

export function callMethods(sites, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + sites[i & 15].work(i, 2)) | 0;
  return sum;
}

export function callFunction(site, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + site(i, 2)) | 0;
  return sum;
}

export function callFunctions(sites, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + sites[i & 15](i, 2)) | 0;
  return sum;
}

export async function callMethodLater(site, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + (await site.workLater(i, 2))) | 0;
  return sum;
}

export async function callMethodsLater(sites, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + (await sites[i & 15].workLater(i, 2))) | 0;
  return sum;
}

export async function callFunctionLater(site, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + (await site(i, 2))) | 0;
  return sum;
}

export async function callFunctionsLater(sites, count) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum = (sum + (await sites[i & 15](i, 2))) | 0;
  return sum;
}
