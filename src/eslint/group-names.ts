import { type AstNode, keyOf, unwrap } from './ast-node.js';
import { lensCallOf } from './lens-name.js';
import type { Source } from './lens-rule.js';
import { siteOf } from './lens-site.js';
import { elementsOf, textOf, valueOf } from './static-value.js';

/** A name that a file gives to a group or preset, with its place. */
export interface GroupName {
  readonly kind: 'group' | 'preset';
  readonly name: string;
  readonly node: AstNode;
}

/**
 * The names in a call: the groups and presets of a definition or registration, the group of a site. The argument of
 * `shop.group('…')` isn't included, because it repeats a name of the definition.
 */
export function groupNamesIn(call: AstNode, source: Source): GroupName[] {
  const group = siteOf(call, source)?.group;
  if (group !== undefined) return namesOf('group', [group], source);
  const given = call.arguments ?? [];
  switch (lensCallOf(call, source)) {
    case 'defineSpanGroups':
    case 'NestLensModule.forFeature':
      return given.flatMap((definition) => namesInDefinition(definition, source));
    case 'SpanRegistry.register':
      return [...namesOfList(given[1], source), ...namesOfPresets(given[2], source)];
    case 'NestLensModule.forRoot': {
      const registrations = given[0] && propertyOfValue(given[0], 'registrations', source);
      return registrations
        ? elementsOf(registrations, source).flatMap((each) => namesInDefinition(each, source))
        : [];
    }
    default:
      return [];
  }
}

function namesInDefinition(definition: AstNode, source: Source): GroupName[] {
  return [
    ...namesOfList(propertyOfValue(definition, 'groups', source), source),
    ...namesOfPresets(propertyOfValue(definition, 'presets', source), source),
  ];
}

function propertyOfValue(node: AstNode, key: string, source: Source): AstNode | undefined {
  const object = valueOf(node, source);
  const property = object.properties?.find((each) => each.type === 'Property' && keyOf(each) === key);
  return property?.value as AstNode | undefined;
}

const namesOfList = (list: AstNode | undefined, source: Source): GroupName[] =>
  list === undefined ? [] : namesOf('group', elementsOf(list, source), source);

function namesOf(kind: GroupName['kind'], nodes: readonly AstNode[], source: Source): GroupName[] {
  return nodes.flatMap((node) => {
    if (unwrap(node).type === 'CallExpression') return [];
    const found = textOf(node, source);
    return found ? [{ kind, name: found.text, node: found.node }] : [];
  });
}

function namesOfPresets(presets: AstNode | undefined, source: Source): GroupName[] {
  if (presets === undefined) return [];
  const properties = valueOf(presets, source).properties ?? [];
  return properties.flatMap((property) => {
    const name = property.type === 'Property' ? keyOf(property) : undefined;
    return name === undefined ? [] : [{ kind: 'preset', name, node: property.key! }];
  });
}
