import type { TransformationTemplate } from './template.ts'

export const keepListedFields: TransformationTemplate = {
  id: 'keep-listed-fields',
  name: 'Keep listed fields',
  description:
    'Lets only the listed members of an event through; everything that an app adds later stays inside until it is listed.',
  language: 'javascript',
  code: `// Paths that may leave; a path lets everything below it through.
const KEPT = [
  "type", "event", "name", "messageId", "userId", "anonymousId", "groupId", "previousId", "timestamp", "originalTimestamp",
  "properties.orderId", "properties.revenue", "properties.currency", "properties.products",
  "context.app", "context.library",
];
const paths = KEPT.map((path) => path.split("."));

export function transformEvent(event) {
  const kept = {};
  for (const path of paths) copy(event, kept, path);
  return kept;
}

function copy(from, to, [name, ...rest]) {
  if (typeof from !== "object" || from === null || !Object.hasOwn(from, name)) return;
  if (rest.length === 0) {
    to[name] = from[name];
    return;
  }
  const below = Object.hasOwn(to, name) ? to[name] : {};
  copy(from[name], below, rest);
  if (Object.keys(below).length > 0) to[name] = below;
}
`,
}
