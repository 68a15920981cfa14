import { sortBy, text } from '../../shell/search-values.ts'

export const sourcesSearch = { q: text, sort: sortBy('name', 'type', 'state', 'rate', 'last') }
