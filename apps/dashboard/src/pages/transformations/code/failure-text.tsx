import { Link } from '@tanstack/react-router'
import { useLibraries } from '../../../api/libraries.ts'
import { type FailurePlace, failureParts } from '../../../components/code/failure-places.ts'
import type { CodePlace } from '../../../components/editor/editor-props.ts'
import { shownText } from '../../../components/json/shown-text.ts'
import styles from '../transformations.module.css'

interface FailureTextProps {
  readonly text: string
  /** Moves the cursor to a place in the code. */
  readonly onPlace: (place: CodePlace) => void
}

/** The failure of user code; its places link to the code and to libraries. */
export function FailureText({ text, onPlace }: FailureTextProps) {
  return (
    <pre className={styles.errorText}>
      {failureParts(text).map((part, at) =>
        typeof part === 'string' ? (
          shownText(part)
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other name
          <Place key={at} place={part} text={part.text} onPlace={onPlace} />
        ),
      )}
    </pre>
  )
}

interface PlaceProps {
  readonly place: FailurePlace
  readonly text: string
  readonly onPlace: (place: CodePlace) => void
}

function Place({ place, text, onPlace }: PlaceProps) {
  const libraries = useLibraries().data ?? []
  if (place.library === undefined) {
    return (
      <button type="button" className={styles.place} onClick={() => onPlace({ ...place })}>
        {text}
      </button>
    )
  }
  const library = libraries.find(({ importName }) => importName === place.library)
  if (library === undefined) return text
  return (
    <Link
      to={`/libraries/${library.id}/code` as string}
      search={{ line: String(place.line), column: String(place.column) } as never}
      data-underlined
    >
      {text}
    </Link>
  )
}
