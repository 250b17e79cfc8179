// Tests thumbnails of patterns.
#include <doctest/doctest.h>

#include "gpu/thumbnails.h"

using namespace headlight;

TEST_CASE("thumbnails drawn smaller show the largest value under each pixel, and none of a neighbor's") {
    Matrix two(4, 8);
    two << 1, 0, 0, 2, 9, 0, 0, 0,  //
        0, 0, 3, 0, 0, 0, 0, 0,     //
        0, 4, 0, 0, 0, 0, 8, 0,     //
        5, 0, 0, 6, 0, 0, 0, 7;
    Matrix halved(2, 4);
    halved << 1, 3, 9, 0,  //
        5, 6, 0, 8;
    two /= 10;
    halved /= 10;
    CHECK(fit_thumbnails(two, 4, 2) == halved);
    CHECK(fit_thumbnails(two, 4, 4) == two);
    Matrix thirds(3, 3);  // a pixel covers 4 / 3 entries: 0 and 1, 1 and 2, 2 and 3
    thirds << 1, 3, 3,    //
        4, 4, 3,          //
        5, 4, 6;
    thirds /= 10;
    CHECK(fit_thumbnails(two.leftCols(4), 4, 3) == thirds);
    CHECK(fit_thumbnails(two, 4, 2.5f).cols() == 6);
}

TEST_CASE("thumbnails of mixing matrices drawn smaller show the entry farthest from 0, of either sign") {
    const auto entry = [](float place) { return kSignedEntry + place; };
    Matrix one(2, 2), whole(1, 1);
    one << entry(0.5f), entry(0.7f), entry(0.1f), -1e30f;
    whole << entry(0.1f);
    CHECK(fit_thumbnails(one, 2, 1) == whole);
}
