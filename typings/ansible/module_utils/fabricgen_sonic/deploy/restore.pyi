from fabricgen.deploy.restore import Device as Device
from fabricgen.deploy.restore import DeviceError as DeviceError
