/* The argument of `open`: what every drain and request needs to know. */
#ifndef MLR_SETTINGS_H
#define MLR_SETTINGS_H

#include "mlr_json.h"

typedef struct {
  mlr_text write_key;
  /** Without trailing slash; empty when there is none, and then nothing is sent. */
  mlr_text data_plane_url;
  mlr_text control_plane_url;
  mlr_text sdk_version;
  int flush_queue_size;
  int db_threshold_count;
  /** 0 (none) to 5 (verbose). */
  int log_level;
  bool gzip;
  bool collect_device_id;
  bool require_consent;
} mlr_settings;

/** @return NULL, or the member that is missing or of another type; the settings are to be freed in either case */
const char *mlr_settings_read(mlr_settings *settings, const mlr_json *from);
mlr_settings mlr_settings_copy(const mlr_settings *settings);
void mlr_settings_free(mlr_settings *settings);

#endif
