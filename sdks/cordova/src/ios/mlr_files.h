/* Names of files. No call here or elsewhere in the engine asks for times or sizes of files: Apple wants a reason for those. */
#ifndef MLR_FILES_H
#define MLR_FILES_H

#include "mlr_text.h"

/** `folder/name` */
mlr_text mlr_path(const char *folder, const char *name);
/** With the folders above it, where they are missing; whether that worked shows when a file is opened. */
void mlr_make_folder(const char *folder);

#endif
