import type { Library } from '@millrace/api-types'
import { Link } from '@tanstack/react-router'
import type { Code } from '../../api/code.ts'
import { useTransformations } from '../../api/transformations.ts'
import { Empty } from '../../components/states/empty.tsx'
import { Shown } from '../../components/states/shown.tsx'
import type { CodeTabProps } from './code-kind.ts'
import { DeleteCode } from './delete-code.tsx'
import styles from './transformations.module.css'

/** Which transformations import a library. */
export function LibraryUsageTab({ kind, code }: CodeTabProps) {
  const { importName, usedBy } = code as Code as Library
  return (
    <div className={styles.usage}>
      <Shown of={useTransformations()}>
        {(all) => {
          const users = all.filter(({ id }) => usedBy.includes(id))
          if (users.length === 0) {
            return <Empty text={`No transformation imports it. To use it: import { … } from "${importName}"`} />
          }
          return (
            <ul className={styles.links}>
              {users.map(({ id, name }) => (
                <li key={id}>
                  <Link to={`/transformations/${id}/code` as string}>{name}</Link>
                </li>
              ))}
            </ul>
          )
        }}
      </Shown>
      <DeleteCode kind={kind} code={code} />
    </div>
  )
}
