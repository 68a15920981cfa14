import { isJsonObject, type JsonObject, type JsonValue, ownMember, setMember } from '@millrace/protocol'
import { present } from '../../event/event-facts.ts'

const PERSON: Readonly<Record<string, string>> = {
  firstName: 'FirstName',
  lastName: 'LastName',
  email: 'Email',
  phone: 'Phone',
  title: 'Title',
  description: 'Description',
}
const LEAD: Readonly<Record<string, string>> = { ...PERSON, website: 'Website', industry: 'Industry' }
const ADDRESS = ['street', 'city', 'state', 'postalCode', 'country']

/** Traits as fields of a lead or contact. A trait that is missing, null, an object or a list leaves its field as it is. */
export function recordFields(object: 'Lead' | 'Contact', traits: JsonObject, config: JsonObject): JsonObject {
  const isLead = object === 'Lead'
  const named = { ...nameParts(traits), ...traits }
  const fields: JsonObject = {}
  for (const [trait, field] of Object.entries(isLead ? LEAD : PERSON)) setMember(fields, field, named[trait] ?? null)
  const address = isJsonObject(traits['address']) ? traits['address'] : {}
  for (const part of ADDRESS) {
    const field = part.charAt(0).toUpperCase() + part.slice(1)
    setMember(fields, isLead ? field : `Mailing${field}`, ownMember(address, part) ?? null)
  }
  if (isLead) fields['Company'] = companyOf(traits) ?? config['defaultCompany'] ?? null
  for (const { from, to } of mappings(config['fields'])) setMember(fields, to, memberAt(traits, from) ?? null)
  return present(fields)
}

/** First and last name of a full one: Salesforce creates no person without a last name. */
function nameParts({ name }: JsonObject): JsonObject {
  if (typeof name !== 'string') return {}
  const words = name.trim().split(/\s+/)
  const lastName = words.pop() ?? ''
  return { firstName: words.join(' '), lastName }
}

/** Of a company its name, or the text itself. */
function companyOf({ company }: JsonObject): JsonValue | undefined {
  const name = isJsonObject(company) ? company['name'] : company
  return typeof name === 'string' && name !== '' ? name : undefined
}

function mappings(fields: JsonValue | undefined): { from: string; to: string }[] {
  if (!Array.isArray(fields)) return []
  return fields.flatMap((entry) => {
    const { from, to } = isJsonObject(entry) ? entry : {}
    return typeof from === 'string' && typeof to === 'string' ? [{ from, to }] : []
  })
}

/** A trait by a dotted path. */
function memberAt(traits: JsonObject, path: string): JsonValue | undefined {
  let value: JsonValue | undefined = traits
  for (const name of path.split('.')) value = isJsonObject(value) ? ownMember(value, name) : undefined
  return value
}
