import { type RefObject, useCallback, useMemo, useRef, useState } from 'react'
import { type KeyBinding, useKeys } from '../../shell/keys/keys.ts'
import { copyText } from '../copy-text.ts'
import type { DataTableProps } from './data-table-props.ts'

/** Handles j, k and `c` anywhere on the page except in another table; the target row takes the focus. */
export function useRowKeys<Row>(
  table: Pick<DataTableProps<Row>, 'rows' | 'rowId' | 'copied' | 'currentId'>,
  scrollTo: (at: number) => void,
  body: RefObject<HTMLElement | null>,
) {
  const [activeAt, setActiveAt] = useState(0)
  const latest = useRef({ table, scrollTo, activeAt })
  latest.current = { table, scrollTo, activeAt }

  const go = useCallback(
    (by: 1 | -1) => {
      const { table, scrollTo, activeAt } = latest.current
      const hasFocus = body.current?.contains(document.activeElement) ?? false
      const open = table.rows.findIndex((row) => table.rowId(row) === table.currentId)
      const from = hasFocus ? activeAt : open !== -1 ? open : by === 1 ? -1 : 0
      const at = Math.min(Math.max(from + by, 0), table.rows.length - 1)
      if (at < 0) return
      setActiveAt(at)
      scrollTo(at)
      // The next frame renders the row, if it was not in the document.
      requestAnimationFrame(() => {
        body.current?.querySelector<HTMLElement>(`[data-row="${at}"]`)?.focus({ preventScroll: true })
      })
    },
    [body],
  )
  const keys = useMemo<KeyBinding[]>(
    () => [
      { keys: 'j', text: 'Next row', run: () => go(1), within: body },
      { keys: 'k', text: 'Row before', run: () => go(-1), within: body },
      {
        keys: 'c',
        text: 'Copy the id of the row',
        within: body,
        run: () => {
          const { rows, rowId, copied = rowId } = latest.current.table
          const row = rows[latest.current.activeAt]
          if (row !== undefined) void copyText(copied(row))
        },
      },
    ],
    [go, body],
  )
  useKeys(keys)
  return { activeAt: Math.min(activeAt, Math.max(table.rows.length - 1, 0)), setActiveAt }
}
