import {
  Button,
  Combobox,
  createTheme,
  Drawer,
  defaultVariantColorsResolver,
  type MantineColorsTuple,
  Modal,
  NumberInput,
  PasswordInput,
  Select,
  TagsInput,
  Textarea,
  TextInput,
  Tooltip,
} from '@mantine/core'

/** Mantine requires ten shades but paints with its variables, which mantine-colours.css defines from our tokens. */
const tuple = (colour: string) => Array.from({ length: 10 }, () => colour) as unknown as MantineColorsTuple
/** The `<header>` of a dialog is not a header of the page. */
const PLAIN_HEADER = { header: { role: 'presentation' } }
const VEIL = { backgroundOpacity: 0.35 }
const SMALL = { defaultProps: { size: 'xs' } }

/** @see contracts/dashboard.md §12 [U16] */
export const theme = createTheme({
  primaryColor: 'accent',
  colors: { accent: tuple('#0b5cad'), bad: tuple('#b3261e') },
  fontFamily: 'var(--sans)',
  fontFamilyMonospace: 'var(--mono)',
  fontSizes: { xs: '13px', sm: '14px', md: '14px', lg: '16px', xl: '20px' },
  spacing: { xs: '4px', sm: '8px', md: '12px', lg: '16px', xl: '24px' },
  defaultRadius: '6px',
  cursorType: 'pointer',
  respectReducedMotion: true,
  breakpoints: { sm: '900px' },
  variantColorResolver: (input) => {
    const colours = defaultVariantColorsResolver(input)
    return input.variant === 'filled' ? { ...colours, color: 'var(--on-accent)' } : colours
  },
  components: {
    Button: Button.extend({ defaultProps: { size: 'xs' }, styles: { label: { fontWeight: 500 } } }),
    TextInput: TextInput.extend(SMALL),
    PasswordInput: PasswordInput.extend(SMALL),
    NumberInput: NumberInput.extend(SMALL),
    Textarea: Textarea.extend(SMALL),
    Select: Select.extend(SMALL),
    // Otherwise a closed filter for one of 1,000 sources would put 1,000 options into the page.
    Combobox: Combobox.extend({ defaultProps: { keepMounted: false } }),
    TagsInput: TagsInput.extend(SMALL),
    Modal: Modal.extend({
      defaultProps: { centered: true, transitionProps: { duration: 0 }, attributes: PLAIN_HEADER, overlayProps: VEIL },
    }),
    Drawer: Drawer.extend({
      defaultProps: { transitionProps: { duration: 0 }, attributes: PLAIN_HEADER, overlayProps: VEIL },
    }),
    Tooltip: Tooltip.extend({
      defaultProps: { transitionProps: { duration: 0 } },
    }),
  },
})
