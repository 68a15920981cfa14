import os


def play(analytics):
    scenario = os.environ['SCENARIO']
    if scenario == 'kinds':
        analytics.identify('u-88', {'plan': 'gold', 'seats': 14})
        analytics.track('u-88', 'Seat Reserved', {'hall': 'B', 'price': 18.5})
        analytics.page('u-88', None, 'Seats', {'path': '/seats'})
        analytics.screen('u-88', None, 'Programme', {'day': 'Friday'})
        analytics.group('u-88', 'g-7', {'name': 'Friends of film'})
        analytics.alias('u-77', 'u-88')
    elif scenario == 'anonymous':
        analytics.track(anonymous_id='a-5', event='Opened')
    else:
        for n in range(int(os.environ['COUNT'])):
            analytics.track('u-88', 'Counted', {'n': n})
    analytics.flush()
    analytics.shutdown()
