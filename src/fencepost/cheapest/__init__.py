"""Which set of changes costs least and will do, whatever it is that they change?"""
