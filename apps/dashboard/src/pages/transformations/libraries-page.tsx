import type { Library } from '@millrace/api-types'
import { useLibraries } from '../../api/libraries.ts'
import { countColumn } from '../../components/table/count-column.ts'
import { codeColumns } from './code-columns.tsx'
import { CodeList } from './code-list.tsx'
import { NewLibrary } from './new-code.tsx'

const COLUMNS = codeColumns<Library>([
  {
    key: 'import',
    title: 'Import name',
    width: 'minmax(120px, 1fr)',
    cell: ({ importName }) => <code>{importName}</code>,
  },
  countColumn({ key: 'usedBy', title: 'Used by', width: '96px', value: ({ usedBy }) => usedBy.length }),
])

export function LibrariesPage() {
  return (
    <CodeList
      title="Libraries"
      path="/libraries"
      list="/v2/libraries"
      of={useLibraries()}
      columns={COLUMNS}
      empty="No libraries yet. Transformations can import their code."
      newText="New library"
      dialog={(close) => <NewLibrary onClose={close} />}
    />
  )
}
