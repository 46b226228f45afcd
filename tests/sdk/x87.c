/* Is the x87 in use after its registers were, and after the core was looked at? Prints 1 or 0 for each. */
#include "contention.h"
#include <cpuid.h>
#include <stdio.h>

static unsigned in_use(void)
{
	unsigned low, high;
	__asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(1));
	return low & 1;
}

int main(void)
{
	unsigned a = 0, b, c = 0, d;
	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) ||
	    !__get_cpuid_count(0xd, 1, &a, &b, &c, &d) || !(a & 4))
		return 77;
	pb_gauge gauge = {.length = 141,
			  .window = {.filler = PB_VECTORS, .chain = 5, .length = 141, .rounds = 10}};
	__asm__ volatile("fldpi\n\tfstp %%st(0)" : : : "st");
	unsigned before = in_use();
	pb_contention_read(&gauge);
	printf("%u %u\n", before, in_use());
	return 0;
}
