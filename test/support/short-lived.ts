/** Options of node: a process of a second or two is done before optimized code would pay. Without it, it takes a tenth less. */
export const SHORT_LIVED = ['--no-opt'];
