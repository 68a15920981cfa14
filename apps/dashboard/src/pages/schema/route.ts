import type { PageRoute } from '../../shell/page/page-route.ts'
import { modelSearch, schemaSearch } from './schema-search.ts'

export const routes: readonly PageRoute[] = [
  {
    path: '/schema',
    title: 'Schema',
    load: () => import('./schema-page.tsx'),
    component: 'SchemaPage',
    search: schemaSearch,
  },
  {
    path: '/schema/$eventId',
    title: 'Model',
    load: () => import('./model/model-page.tsx'),
    component: 'ModelPage',
    search: modelSearch,
  },
]
