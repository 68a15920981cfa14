#import "MLRDeviceFacts.h"

#import <Cordova/CDVPlugin.h>
#import <Network/Network.h>
#import <sys/sysctl.h>

static const NSUInteger MLRTrackingAuthorised = 3;
static NSString *const MLRNoAdvertisingId = @"00000000-0000-0000-0000-000000000000";

@interface MLRDeviceFacts ()

@property(atomic) BOOL isOnline;
/** {wifi, cellular}; nil: not known yet. */
@property(atomic, copy, nullable) NSDictionary *network;

@end

@implementation MLRDeviceFacts {
  nw_path_monitor_t _monitor;
}

- (instancetype)init {
  self = [super init];
  if (self == nil) return nil;
  _isOnline = YES;
  _systemVersion = UIDevice.currentDevice.systemVersion;
#ifdef CDV_VERSION
  _platformVersion = CDV_VERSION;
#endif
  return self;
}

- (void)watch:(void (^)(void))changed {
  [NSNotificationCenter.defaultCenter addObserverForName:NSCurrentLocaleDidChangeNotification
                                                  object:nil
                                                   queue:nil
                                              usingBlock:^(NSNotification *notification) {
                                                changed();
                                              }];
  if (@available(iOS 12.0, *)) {
    __weak MLRDeviceFacts *weakSelf = self;
    _monitor = nw_path_monitor_create();
    nw_path_monitor_set_queue(_monitor, dispatch_queue_create("org.millrace.network", DISPATCH_QUEUE_SERIAL));
    nw_path_monitor_set_update_handler(_monitor, ^(nw_path_t path) {
      if ([weakSelf isNewPath:path]) changed();
    });
    nw_path_monitor_start(_monitor);
  }
}

- (BOOL)isNewPath:(nw_path_t)path API_AVAILABLE(ios(12.0)) {
  NSDictionary *before = self.network;
  BOOL wasOnline = self.isOnline;
  self.isOnline = nw_path_get_status(path) != nw_path_status_unsatisfied;
  // Of type BOOL, because a number of any other type is no boolean of JSON.
  BOOL isWifi = self.isOnline && nw_path_uses_interface_type(path, nw_interface_type_wifi);
  BOOL isCellular = self.isOnline && nw_path_uses_interface_type(path, nw_interface_type_cellular);
  self.network = @{@"wifi" : @(isWifi), @"cellular" : @(isCellular)};
  return wasOnline != self.isOnline || ![self.network isEqual:before];
}

- (NSDictionary *)launchInForeground:(BOOL)isForeground url:(nullable NSString *)url {
  NSMutableDictionary *launch = [NSMutableDictionary dictionary];
  launch[@"foreground"] = @(isForeground);
  launch[@"version"] = [self ofBundle:@"CFBundleShortVersionString"];
  launch[@"build"] = [self ofBundle:@"CFBundleVersion"];
  launch[@"url"] = url;
  return launch;
}

- (NSDictionary *)contextWithDeviceId:(BOOL)withDeviceId {
  NSMutableDictionary *context = [[self changingContext] mutableCopy];
  context[@"app"] = [self app];
  dispatch_sync(dispatch_get_main_queue(), ^{
    UIDevice *device = UIDevice.currentDevice;
    NSMutableDictionary *facts = [NSMutableDictionary dictionary];
    facts[@"manufacturer"] = @"Apple";
    facts[@"model"] = [self model];
    // The kind of device; `name` of UIDevice is the user's own.
    facts[@"name"] = device.model;
    facts[@"type"] = @"iOS";
    facts[@"id"] = withDeviceId ? device.identifierForVendor.UUIDString : nil;
    context[@"device"] = facts;
    context[@"os"] = @{@"name" : device.systemName, @"version" : device.systemVersion};
  });
  return context;
}

- (NSDictionary *)changingContext {
  NSMutableDictionary *context = [NSMutableDictionary dictionary];
  context[@"locale"] = NSLocale.preferredLanguages.firstObject;
  context[@"network"] = self.network;
  dispatch_sync(dispatch_get_main_queue(), ^{
    UIScreen *screen = UIScreen.mainScreen;
    CGSize pixels = screen.nativeBounds.size;
    context[@"screen"] = @{
      @"width" : @((NSInteger)pixels.width),
      @"height" : @((NSInteger)pixels.height),
      @"density" : @(screen.nativeScale),
    };
  });
  return context;
}

- (void)readAdvertisingId:(void (^)(NSDictionary *known))then {
  dispatch_async(dispatch_get_main_queue(), ^{
    NSMutableDictionary *known = [NSMutableDictionary dictionary];
    @try {
      NSNumber *status = [NSClassFromString(@"ATTrackingManager") valueForKey:@"trackingAuthorizationStatus"];
      BOOL isAuthorised = status.unsignedIntegerValue == MLRTrackingAuthorised;
      if (status != nil) known[@"att"] = status;
      if (status != nil) known[@"enabled"] = @(isAuthorised);
      if (isAuthorised) {
        id manager = [NSClassFromString(@"ASIdentifierManager") valueForKey:@"sharedManager"];
        NSUUID *advertisingId = [manager valueForKey:@"advertisingIdentifier"];
        if (![advertisingId.UUIDString isEqualToString:MLRNoAdvertisingId]) known[@"id"] = advertisingId.UUIDString;
      }
    } @catch (NSException *otherwiseMade) {
      // A system whose classes are not those that we know has no id for us.
    }
    then(known);
  });
}

- (NSDictionary *)app {
  NSMutableDictionary *app = [NSMutableDictionary dictionary];
  app[@"name"] = [self ofBundle:@"CFBundleDisplayName"] ?: [self ofBundle:@"CFBundleName"];
  app[@"version"] = [self ofBundle:@"CFBundleShortVersionString"];
  app[@"build"] = [self ofBundle:@"CFBundleVersion"];
  app[@"namespace"] = NSBundle.mainBundle.bundleIdentifier;
  return app;
}

- (nullable NSString *)ofBundle:(NSString *)key {
  id value = [NSBundle.mainBundle objectForInfoDictionaryKey:key];
  return [value isKindOfClass:[NSString class]] ? value : nil;
}

/** Such as `iPhone16,1`. */
- (nullable NSString *)model {
  char name[64] = "";
  size_t length = sizeof name - 1;
  return sysctlbyname("hw.machine", name, &length, NULL, 0) == 0 ? @(name) : nil;
}

@end
