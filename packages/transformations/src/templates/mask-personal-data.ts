import type { TransformationTemplate } from './template.ts'

export const maskPersonalData: TransformationTemplate = {
  id: 'mask-personal-data',
  name: 'Mask personal data',
  description:
    'Replaces the values of personal members, anywhere in the event, by a hash. The same person always has the same hash.',
  language: 'javascript',
  code: `// Members that hold personal data, in lower case and without - and _.
const PERSONAL = ["email", "phone", "firstname", "lastname", "name", "address", "street", "birthday", "ip"];
let key = "";

export function transformEvent(event) {
  // Saved under this name, the credential keeps others from hashing a list of known addresses.
  key = getCredential("maskingKey") ?? "";
  const { properties, traits, context } = event;
  if (properties) event.properties = masked(properties);
  if (traits) event.traits = masked(traits);
  if (context) {
    if (context.traits) context.traits = masked(context.traits);
    if (context.ip) context.ip = mask(context.ip);
  }
  return event;
}

function masked(value) {
  if (Array.isArray(value)) return value.map(masked);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).map(([name, each]) => [name, isPersonal(name) ? mask(each) : masked(each)]);
  return Object.fromEntries(members);
}

function isPersonal(name) {
  return PERSONAL.includes(name.toLowerCase().replace(/[-_]/g, ""));
}

function mask(value) {
  if (value === null || value === undefined || value === "") return value;
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return hash.hmacSha256(key, text.trim().toLowerCase());
}
`,
}
