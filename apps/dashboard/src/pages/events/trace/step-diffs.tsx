import { Button } from '@mantine/core'
import { Suspense, useState } from 'react'
import { lazyPart } from '../../../components/lazy-part.ts'
import type { StepDiffsProps } from './step-diffs-props.ts'
import styles from './trace.module.css'

const RenderedSteps = lazyPart(() =>
  import('./rendered-steps.tsx').then(({ RenderedSteps }) => ({ default: RenderedSteps })),
)

/** The changes of each step, up to the request; loaded on demand, because it runs the code again. */
export function StepDiffs(props: StepDiffsProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.diffs}>
      <Button variant="subtle" color="gray" size="compact-xs" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {isOpen ? 'Hide each step' : 'Show each step'}
      </Button>
      {isOpen && (
        <Suspense>
          <RenderedSteps {...props} />
        </Suspense>
      )}
    </div>
  )
}
