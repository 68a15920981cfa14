import type { DestinationDefinition } from '@millrace/api-types'

/**
 * The types whose name, former name or type holds the sought text. Without one, entries of the catalog that another type
 * replaces are left out.
 */
export function foundTypes(definitions: readonly DestinationDefinition[], sought = ''): DestinationDefinition[] {
  const text = sought.trim().toLowerCase()
  if (text === '') return definitions.filter(({ options }) => typeof options['supersededBy'] !== 'string')
  return definitions.filter(({ displayName, name, options }) => {
    const aliases = Array.isArray(options['aliases']) ? options['aliases'] : []
    return [displayName, name, ...aliases.map(String)].some((each) => each.toLowerCase().includes(text))
  })
}

export function titleOf(category: string): string {
  if (category === 'catalog') return 'Community catalog'
  return category.charAt(0).toUpperCase() + category.slice(1)
}
