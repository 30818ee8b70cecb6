/** Imports a package as this workspace has it. */
export const load = (specifier) => import(specifier);
