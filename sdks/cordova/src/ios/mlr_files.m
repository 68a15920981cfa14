#include "mlr_files.h"

#include <sys/stat.h>

mlr_text mlr_path(const char *folder, const char *name) {
  mlr_text path = {0};
  mlr_put(&path, folder);
  mlr_put(&path, "/");
  mlr_put(&path, name);
  return path;
}

void mlr_make_folder(const char *folder) {
  mlr_text path = {0};
  for (; *folder != 0; folder++) {
    if (*folder == '/' && path.length > 0) mkdir(path.at, 0700);
    mlr_put_bytes(&path, folder, 1);
  }
  if (path.length > 0) mkdir(path.at, 0700);
  mlr_text_free(&path);
}
