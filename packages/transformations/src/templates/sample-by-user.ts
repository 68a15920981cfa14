import type { TransformationTemplate } from './template.ts'

export const sampleByUser: TransformationTemplate = {
  id: 'sample-by-user',
  name: 'Sample by user',
  description:
    'Lets a share of the users through, each with all of their events: the same people every day and in every destination.',
  language: 'javascript',
  code: `// From 0 to 100.
const PERCENT = 10;
// Another text chooses other people.
const SALT = "sample 1";
// These types always pass, so that the people who are let through are known.
const ALWAYS = ["alias"];

export function transformEvent(event) {
  if (ALWAYS.includes(event.type)) return event;
  const person = event.userId || event.anonymousId;
  if (!person) return null;
  return share(String(person)) * 100 < PERCENT ? event : null;
}

// Where a person stands between 0 and 1.
function share(person) {
  return parseInt(hash.md5(SALT + person).slice(0, 8), 16) / 2 ** 32;
}
`,
}
