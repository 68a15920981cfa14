import { Button } from '@mantine/core'
import { useState } from 'react'
import { useRefusals } from '../../../api/sources.ts'
import { shownText } from '../../../components/json/shown-text.ts'
import { RefusalTable } from '../../../components/refusal-table.tsx'
import { Empty } from '../../../components/states/empty.tsx'
import { Shown } from '../../../components/states/shown.tsx'
import { eventTexts, sourceTexts } from '../../../texts.ts'

/** The messageId is unknown: one of the recently refused requests may be the event. */
export function UnknownEvent({ messageId }: { readonly messageId: string }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <Empty text={eventTexts.unknown(shownText(messageId))}>
        <Button variant="default" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {eventTexts.seeRefused}
        </Button>
      </Empty>
      {isOpen && <Refusals />}
    </>
  )
}

function Refusals() {
  return (
    <Shown of={useRefusals()}>
      {(refusals) =>
        refusals.length === 0 ? <Empty text={sourceTexts.noRefusals} /> : <RefusalTable refusals={refusals} />
      }
    </Shown>
  )
}
