import ts from 'typescript';

/** What an operator becomes. Comparisons become their negation. */
const OPERATORS = {
  '===': '!==',
  '!==': '===',
  '<': '>=',
  '>': '<=',
  '<=': '>',
  '>=': '<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+': '-',
  '-': '+',
};
const isComparison = (operator) => /[=<>]/.test(operator);

/** @typedef {{ line: number, before: string, after: string }} Break a change of one expression or statement */

/**
 * Builds all breaks of a file into its text. The one in force is the one of which `globalThis.__isBroken(number)`
 * says so. So one text, compiled once, serves all of them.
 *
 * @returns {{ breaks: Break[], text: string }}
 */
export function withBreaks(source) {
  const file = ts.createSourceFile('file.ts', source, ts.ScriptTarget.Latest, true);
  /** @type {Break[]} */
  const breaks = [];

  /** Notes a break, and returns the condition that it is in force. */
  const broken = (node, after) => {
    const start = node.getStart(file);
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    breaks.push({ line, before: source.slice(start, node.end).replace(/\s+/g, ' '), after });
    return `globalThis.__isBroken(${breaks.length - 1})`;
  };
  /** The text of a node, with the breaks of its children. */
  const inside = (node) => {
    let text = '';
    let at = node.getStart(file);
    ts.forEachChild(node, (child) => {
      const start = child.getStart(file);
      if (start < at) return;
      text += source.slice(at, start) + write(child);
      at = child.end;
    });
    return text + source.slice(at, node.end);
  };
  const condition = (node) => {
    const [yes, no] = [broken(node, 'true'), broken(node, 'false')];
    return `(${yes} || (!${no} && (${write(node)})))`;
  };
  const write = (node) => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isImportDeclaration(node))
      return inText(node);
    if (ts.isBinaryExpression(node)) {
      const operator = node.operatorToken.getText(file);
      const other = OPERATORS[operator];
      if (other !== undefined) {
        const isBroken = broken(node, `with ${other}`);
        const [left, right] = [write(node.left), write(node.right)];
        return isComparison(operator)
          ? `((${left} ${operator} ${right}) !== ${isBroken})`
          : `(${isBroken} ? (${left}) ${other} (${right}) : (${left}) ${operator} (${right}))`;
      }
    }
    if (ts.isIfStatement(node)) {
      const otherwise = node.elseStatement ? ` else ${write(node.elseStatement)}` : '';
      return `if ${condition(node.expression)} ${write(node.thenStatement)}${otherwise}`;
    }
    if (ts.isConditionalExpression(node)) {
      return `(${condition(node.condition)} ? ${write(node.whenTrue)} : ${write(node.whenFalse)})`;
    }
    if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
      return `((!${write(node.operand)}) !== ${broken(node, 'without !')})`;
    }
    if (node.kind === ts.SyntaxKind.TrueKeyword) return `(!${broken(node, 'false')})`;
    if (node.kind === ts.SyntaxKind.FalseKeyword) return broken(node, 'true');
    if (ts.isExpressionStatement(node)) return `{ if (!${broken(node, 'left out')}) { ${inside(node)} } }`;
    const isArrow = ts.isArrowFunction(node) && !ts.isBlock(node.body);
    const result = isArrow ? node.body : ts.isReturnStatement(node) ? node.expression : undefined;
    if (result === undefined || result.getText(file) === 'undefined') return inside(node);
    const head = source.slice(node.getStart(file), result.getStart(file));
    return `${head}(${broken(result, 'undefined')} ? undefined : ${write(result)})${isArrow ? '' : ';'}`;
  };
  const inText = (node) => source.slice(node.getStart(file), node.end);
  return { breaks, text: inside(file) };
}
