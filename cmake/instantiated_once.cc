#define LOCKSTEP_INSTANTIATE
#include "cmake/instantiated_once.h"
