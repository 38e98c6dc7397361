#define LOCKSTEP_INSTANTIATE_FOR_TESTS
#include "cmake/instantiated_once_for_tests.h"
